"""Min-plus Delta-stepping from 256 roots a group.

One module a kind of launch; `lengths` chooses the schedule.
"""
