-- Spend and tokens of each day, by the end of the attempt. dt is the day of the recording.
SELECT CAST(end_time AS DATE) AS day, sum(spend) AS spend, sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens
FROM usage GROUP BY day ORDER BY day;
