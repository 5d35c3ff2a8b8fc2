-- Spend by the source of the token counts: what providers reported, and what the gateway estimated.
SELECT custom_llm_provider, usage_source, sum(spend) AS spend, count(*) AS attempts
FROM usage GROUP BY custom_llm_provider, usage_source ORDER BY custom_llm_provider, usage_source;
