-- DuckDB: the bucket's tables as views. Set the variable first, without a slash at its end:
--   SET VARIABLE bucket = 's3://records';   or a directory: '/var/lib/records'
SET TimeZone = 'UTC';
CREATE OR REPLACE VIEW usage AS
SELECT * FROM read_parquet(getvariable('bucket') || '/usage/dt=*/*.parquet', hive_partitioning = true, union_by_name = true);
CREATE OR REPLACE VIEW audit AS
SELECT * FROM read_parquet(getvariable('bucket') || '/audit/dt=*/*.parquet', hive_partitioning = true, union_by_name = true);
