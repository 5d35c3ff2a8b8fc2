-- The keys that have spent most. api_key is the hash of the key.
SELECT api_key, max(key_alias) AS key_alias, sum(spend) AS spend, count(*) FILTER (WHERE final) AS requests
FROM usage GROUP BY api_key ORDER BY spend DESC, api_key LIMIT 20;
