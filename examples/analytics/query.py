#!/usr/bin/env python3
"""Runs queries on the Parquet files of a bucket with DuckDB and prints their results as JSON.

query.py BUCKET [QUERY.sql ...]     without queries: all in queries/
"""

import decimal
import json
import pathlib
import sys

import duckdb


def plain(value):
    if isinstance(value, decimal.Decimal):
        return format(value, "f")  # JSON numbers would be rounded
    return value if isinstance(value, (int, float, str, type(None))) else str(value)


def main():
    here = pathlib.Path(__file__).parent
    bucket, *names = sys.argv[1:]
    queries = [pathlib.Path(n) for n in names] or sorted((here / "queries").glob("*.sql"))
    db = duckdb.connect()
    db.execute("SET VARIABLE bucket = ?", [bucket.rstrip("/")])
    db.execute((here / "views.sql").read_text())
    out = {}
    for query in queries:
        rows = db.execute(query.read_text())
        out[query.stem] = {"columns": [c[0] for c in rows.description], "rows": [[plain(v) for v in row] for row in rows.fetchall()]}
    json.dump(out, sys.stdout, indent=1)
    print()


main()
