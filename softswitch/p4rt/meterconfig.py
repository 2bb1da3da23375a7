"""MeterConfig messages (P4Runtime 1.4, MeterEntry & DirectMeterEntry)."""

from finsy.proto import p4i, p4r

from fcn.softswitch.api import MeterRates
from fcn.softswitch.p4rt.errors import invalid_argument, unimplemented
from fcn.softswitch.p4rt.schema import Meter


def decode_meter_config(meter: Meter, config: p4r.MeterConfig) -> MeterRates:
    """Rates per second and bursts of a configuration.

    Raises INVALID_ARGUMENT for negative values, a committed rate above the peak rate, an eburst
    where the meter's type forbids it and unequal rates of single-rate types; UNIMPLEMENTED
    for the excess burst of RFC 2697.
    """
    if min(config.cir, config.cburst, config.pir, config.pburst, config.eburst) < 0:
        raise invalid_argument(f"meter {meter.name}: rates and bursts must not be negative")
    if config.eburst and meter.type != p4i.MeterSpec.SINGLE_RATE_THREE_COLOR:
        raise invalid_argument(f"meter {meter.name}: its type has no eburst")
    if config.eburst:
        raise unimplemented(f"meter {meter.name}: eburst (RFC 2697) is not supported")
    single = meter.type != p4i.MeterSpec.TWO_RATE_THREE_COLOR
    if single and (config.cir, config.cburst) != (config.pir, config.pburst):
        raise invalid_argument(f"meter {meter.name} has one rate: pir and pburst must equal cir's")
    if config.cir > config.pir:
        raise invalid_argument(f"meter {meter.name}: cir {config.cir} exceeds pir {config.pir}")
    return MeterRates(config.cir, config.cburst, config.pir, config.pburst)


def encode_meter_config(rates: MeterRates) -> p4r.MeterConfig:
    return p4r.MeterConfig(cir=rates.cir, cburst=rates.cburst, pir=rates.pir, pburst=rates.pburst)


def refuse_meter_counters(message: p4r.TableEntry | p4r.MeterEntry | p4r.DirectMeterEntry) -> None:
    """Raise UNIMPLEMENTED when per-colour counters are asked for."""
    is_set = (
        message.HasField("meter_counter_data")
        if isinstance(message, p4r.TableEntry)
        else message.HasField("counter_data")
    )
    if is_set:
        raise unimplemented("counters per meter colour are not supported")
