-- Spend by the tags of requests. A request with two tags counts for both.
SELECT tag, sum(spend) AS spend, count(*) FILTER (WHERE final) AS requests
FROM (SELECT unnest(request_tags) AS tag, spend, final FROM usage) GROUP BY tag ORDER BY spend DESC, tag;
