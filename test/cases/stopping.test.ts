import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { canConnect } from "../support/ports.ts";
import { type OwnProcess, startOwnProcess } from "../support/own-process.ts";
import { requestText } from "../support/raw-client.ts";

/** A client that asks again as soon as it has its answer, until the connection ends. @returns its answers' statuses. */
async function askOnAndOn({ port, key }: OwnProcess, answered: () => void): Promise<number[]> {
  const sent = requestText("/fetch-gp?gp_name=northwind", { key });
  const socket = connect(port, "127.0.0.1");
  const statuses: number[] = [];
  let received = "";
  socket.setEncoding("latin1").on("error", () => {});
  socket.on("data", (text: string) => {
    received += text;
    const answer = /^HTTP\/1\.1 (\d{3}) [^]*?\r\ncontent-length: (\d+)\r\n[^]*?\r\n\r\n/.exec(
      received,
    );
    if (answer === null || received.length < answer[0].length + Number(answer[2])) return;
    statuses.push(Number(answer[1]));
    received = received.slice(answer[0].length + Number(answer[2]));
    answered();
    if (socket.writable) socket.write(sent);
  });
  socket.write(sent);
  await once(socket, "close");
  assert.equal(received, "", "an answer came in part");
  return statuses;
}

test("C100 · told to stop under load it ends with 0, every answer that was begun arrives whole, and nobody new is let in", async (t) => {
  const server = await startOwnProcess(t);
  let answers = 0;
  const { promise: isBusy, resolve: busy } = Promise.withResolvers<void>();
  const clients = Array.from({ length: 20 }, () =>
    askOnAndOn(server, () => {
      if (++answers === 200) busy();
    }),
  );
  await isBusy;
  server.signal("SIGTERM");
  for (const statuses of await Promise.all(clients)) {
    assert.ok(statuses.length > 0);
    assert.ok(statuses.every((status) => status === 200));
  }
  assert.equal(await canConnect("127.0.0.1", server.port), false);
  assert.deepEqual(await server.ended, { exitCode: 0, signal: null });
  assert.equal(server.err(), "");
});
