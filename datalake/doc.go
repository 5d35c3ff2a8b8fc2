// Package datalake writes usage records and audit records as Parquet files, which DuckDB, ClickHouse,
// Athena, BigQuery, Spark and others read as they are.
//
// Guarantees:
//
//   - Amounts are DECIMAL(38,12): one unit is a pico-dollar, so sums are exact. Times are UTC, in
//     microseconds.
//   - Columns are only added. The name, type and meaning of a column never change.
//   - Neither kind of file has text of a prompt or of a response, nor the providers' messages about
//     failures. Audit records have the fields that other external systems get.
//   - A file is written as a stream, one row group at a time, however many rows it has.
package datalake
