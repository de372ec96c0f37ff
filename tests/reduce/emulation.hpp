// CUDA on the host, for kernels of one source: the threads of a block are fibers of one thread, which take turns where
// they wait for each other. Blocks come one after the other, so that what is __shared__ may be static.

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#define __CUDACC__
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)

using std::max;
using std::min;

struct Index {
    int x, y, z;
};
static Index threadIdx, blockIdx;

struct Fiber {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(1 << 16);
    bool done = true;
};
static std::vector<Fiber> fibers;
static ucontext_t caller;
static std::function<void()> body;
static int current;
static std::vector<int> arrived;      // of each warp: how often its lanes have waited; behind these, of the block
static std::vector<double> exchanged;  // of each thread

static void yield() {
    const int own = current;
    swapcontext(&fibers[own].context, &caller);
    current = own;
    threadIdx.x = own;
}

// Wait until all `count` threads have come here as often as this one.
static void wait(int place, int count) {
    const int target = (arrived[place]++ / count + 1) * count;
    while (arrived[place] < target) yield();
}

static void __syncthreads() { wait((int)fibers.size() / 32, (int)fibers.size()); }

static double __shfl_down_sync(unsigned, double x, int step) {
    const int own = threadIdx.x, from = own % 32 + step < 32 ? own + step : own;
    exchanged[own] = x;
    wait(own / 32, 32);
    const double other = exchanged[from];
    wait(own / 32, 32);
    return other;
}

static void enter_fiber() {
    body();
    fibers[current].done = true;
}

static void emulate(int columns, int rows, int threads, std::function<void()> kernel) {
    if ((int)fibers.size() != threads) fibers = std::vector<Fiber>(threads);
    exchanged.assign(threads, 0);
    body = kernel;
    for (blockIdx.y = 0; blockIdx.y < rows; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < columns; blockIdx.x++) {
            arrived.assign(threads / 32 + 1, 0);
            for (Fiber& fiber : fibers) {
                getcontext(&fiber.context);
                fiber.context.uc_stack.ss_sp = fiber.stack.data();
                fiber.context.uc_stack.ss_size = fiber.stack.size();
                fiber.context.uc_link = &caller;
                makecontext(&fiber.context, enter_fiber, 0);
                fiber.done = false;
            }
            for (int left = threads; left;) {
                left = 0;
                for (current = 0; current < threads; current++) {
                    const int turn = current;
                    if (fibers[turn].done) continue;
                    threadIdx.x = turn;
                    swapcontext(&caller, &fibers[turn].context);
                    current = turn;
                    left += !fibers[turn].done;
                }
            }
        }
}
