-- Duration of successful attempts, in microseconds.
SELECT model_id, count(*) AS attempts, quantile_disc(epoch_us(end_time) - epoch_us(start_time), 0.5) AS p50,
       quantile_disc(epoch_us(end_time) - epoch_us(start_time), 0.99) AS p99
FROM usage WHERE status = 'success' AND start_time IS NOT NULL GROUP BY model_id ORDER BY model_id;
