"""A P4Data that is filled in again is the one that would be made anew."""

import pytest

from fcn.softswitch.p4rt.values import Aggregate, DataType, Form, Scalar

KINDS = (Scalar(24), Scalar(1, "bool"), Scalar(8, "enum"), Scalar(9, "sint"))
NESTED = Aggregate((Scalar(128), Aggregate(KINDS, False), Scalar(16)), True)


@pytest.mark.parametrize("shape", [Scalar(32), Aggregate(KINDS, True), NESTED])
def test_filled_in_again(shape: DataType) -> None:
    form = Form(shape)
    widths = shape.widths()
    for values in ([(1 << width) - 1 for width in widths], [0] * len(widths), [1] * len(widths)):
        assert form.fill(values) == shape.encode(iter(values))


def test_as_many_values_as_the_type_has() -> None:
    form = Form(NESTED)
    for wrong in (5, 7):
        with pytest.raises(ValueError, match="zip"):
            form.fill([0] * wrong)
