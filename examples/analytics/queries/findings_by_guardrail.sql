-- What guardrails found. The last event of a request has the findings of all its attempts.
SELECT v.guardrail_id, v.engine, v.entity, v.action, CAST(sum(v."count") AS BIGINT) AS findings
FROM (
  SELECT unnest(from_json(guardrail_violations, '[{"guardrail_id":"VARCHAR","engine":"VARCHAR","entity":"VARCHAR","action":"VARCHAR","count":"BIGINT"}]')) AS v
  FROM usage WHERE final
)
GROUP BY ALL ORDER BY findings DESC, v.guardrail_id, v.engine, v.entity, v.action;
