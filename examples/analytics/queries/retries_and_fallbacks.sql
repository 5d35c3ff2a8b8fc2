-- Requests that needed a retry or a fallback, and requests that failed.
SELECT model_group, count(*) AS requests, count(*) FILTER (WHERE retry_count > 0) AS retried,
       count(*) FILTER (WHERE fallback_count > 0) AS fell_back, count(*) FILTER (WHERE status <> 'success') AS failed
FROM usage WHERE final GROUP BY model_group ORDER BY model_group;
