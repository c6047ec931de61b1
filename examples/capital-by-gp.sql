-- Who raised most, for DuckDB in the folder that `gp-records export --format parquet` made:
-- duckdb < capital-by-gp.sql
select gp.name, gp.hq_state, count(*) as signals, sum(signal.amount_usd) as amount_usd, max(signal.date) as latest
from 'signal.parquet' as signal, unnest(signal.gps) as link(one)
join 'gp.parquet' as gp on gp.id = link.one.id
where signal.amount_basis = 'offering_total'
group by all
order by amount_usd desc, gp.name
limit 20;
