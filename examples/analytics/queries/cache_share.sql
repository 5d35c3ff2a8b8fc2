-- Share of the prompt tokens that the providers read from their prompt caches.
SELECT custom_llm_provider, model, sum(cache_read_input_tokens) AS cached, sum(prompt_tokens) AS prompt_tokens,
       sum(cache_read_input_tokens) / nullif(sum(prompt_tokens), 0) AS share
FROM usage GROUP BY custom_llm_provider, model ORDER BY cached DESC, custom_llm_provider, model;
