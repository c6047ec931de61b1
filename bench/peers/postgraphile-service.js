/** PostGraphile over the same tables: its amber preset, on Node's HTTP server. */
import { createServer } from "node:http";
import { grafserv } from "postgraphile/grafserv/node";
import { makePgService } from "postgraphile/adaptors/pg";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { postgraphile } from "postgraphile";

const { DATABASE_URL } = process.env;

const handler = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [
    makePgService({ connectionString: DATABASE_URL, schemas: ["public"], poolConfig: { max: 10 } }),
  ],
  grafserv: { graphqlPath: "/graphql", graphiql: false, watch: false },
  grafast: { explain: false },
});
const server = createServer({ keepAliveTimeout: 72_000 });
await handler.createServ(grafserv).addTo(server);
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("SIGTERM", async () => {
  server.close();
  server.closeAllConnections();
  await handler.release();
  process.exit();
});
process.on("disconnect", () => process.exit());
