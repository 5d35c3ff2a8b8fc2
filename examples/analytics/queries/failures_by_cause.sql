-- Why attempts failed. The last event of a request has the failures of all its attempts.
SELECT f.custom_llm_provider, f.cause, count(*) AS failures
FROM (SELECT unnest(failures) AS f FROM usage WHERE final) GROUP BY f.custom_llm_provider, f.cause
ORDER BY failures DESC, f.custom_llm_provider, f.cause;
