-- What each team has spent on each model group. Requests without a team are in the row without one.
SELECT team_id, model_group, sum(spend) AS spend, count(*) FILTER (WHERE final) AS requests
FROM usage GROUP BY team_id, model_group ORDER BY spend DESC, team_id, model_group;
