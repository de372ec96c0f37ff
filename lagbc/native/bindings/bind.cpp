#include "casters.h"
#include "shapes.h"
namespace lagbc {
namespace {
std::string text(nb::handle h) {
    return nb::cast<std::string>(nb::str(h));
}
}  // namespace
std::string annotation(const Description& type) {
    using Form = Description::Form;
    std::string all;
    if (type.form == Form::array || type.form == Form::stop) {
        const std::string dtype = type.dtype;
        all = "numpy.typing.NDArray[numpy." + (dtype == "bool" ? "bool_" : dtype) + "]";
    } else if (type.form == Form::tuple) {
        for (int i = 0; i < type.count; ++i) all += (i == 0 ? "" : ", ") + annotation(*type.items[i].type);
        all = "tuple[" + all + "]";
    } else if (type.form == Form::record) {
        all = *type.name;
    } else {
        all = type.form == Form::flag ? "bool" : type.form == Form::whole ? "int" : "float";
        if (type.form == Form::nothing) all = "None";
    }
    return type.is_optional ? all + " | None" : all;
}

std::string wanted(const Description& type) {
    using Form = Description::Form;
    std::string all;
    if (type.form == Form::array) {
        const std::string writable = type.is_writable ? "writable " : "";
        all = "a " + writable + "C-contiguous array of " + type.dtype + " of " + type.shape;
    } else if (type.form == Form::tuple) {
        for (int i = 0; i < type.count; ++i) {
            const auto& [item, name, shape] = type.items[i];
            all += (i == 0 ? "" : ", ") + std::string(name) + (shape.empty() ? "" : " " + as_tuple(shape)) + ": " +
                   wanted(*item);
        }
        all = std::string("a ") + *type.name + ", a tuple (" + all + ")";
    } else if (type.form == Form::record) {
        all = std::string("a ") + *type.name;
    } else if (type.form == Form::stop) {
        all = std::string("an array of ") + type.dtype + " of shape (1,)";
    } else {
        all = type.form == Form::flag ? "True or False" : "a number";
        if (type.form == Form::whole) all += std::string(" of ") + type.dtype;
    }
    return type.is_optional ? all + ", or None" : all;
}

std::string found_old(nb::handle source) {
    if (source.is_none()) return "None";
    if (nb::isinstance<nb::tuple>(source)) {
        std::string items;
        for (nb::handle item : nb::borrow<nb::tuple>(source)) items += (items.empty() ? "" : ", ") + found_old(item);
        return "a tuple (" + items + ")";
    }
    if (!nb::hasattr(source, "dtype") || !nb::hasattr(source, "shape"))
        return "of type " + text(source.type().attr("__name__"));
    std::string words = "an array of " + text(source.attr("dtype")) + " of shape " + text(source.attr("shape"));
    if (nb::hasattr(source, "flags")) {
        if (!nb::cast<bool>(source.attr("flags")["C_CONTIGUOUS"])) words += " that is not C-contiguous";
        if (!nb::cast<bool>(source.attr("flags")["ALIGNED"])) words += " that is not aligned";
        if (!nb::cast<bool>(source.attr("flags")["WRITEABLE"])) words += " that is read-only";
    }
    return words;
}

}  // namespace lagbc
