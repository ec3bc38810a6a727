// An app with an agent that says the time, in a process of its own: REST and a store, all with defaults. Sends its port.
import 'reflect-metadata';
import { setTimeout as delay } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { AgentRegistry, AgentsModule } from '../../dist/agents/index.js';
import { SessionsModule } from '../../dist/index.js';
import { AgentsRestModule, OpenAccess, SessionAccessModule, SessionsRestModule } from '../../dist/rest.js';
import { openStorage } from './durable-stores.mjs';

const { store, place, pieces, pauseMs } = JSON.parse(process.argv[2]);
const storage = openStorage(store, place);

const root = {
  module: Object,
  imports: [
    SessionsModule.forRoot({ storage, isGlobal: true }),
    AgentsModule.forRoot({ isGlobal: true }),
    SessionAccessModule.forRoot({ access: OpenAccess }),
    SessionsRestModule.forRoot(),
    AgentsRestModule.forRoot(),
  ],
};

/** What a piece says is when it was said. */
async function* speak() {
  let said = '';
  for (let piece = 0; piece < pieces; piece++) {
    await delay(pauseMs);
    const text = `${performance.timeOrigin + performance.now()} `;
    said += text;
    yield { partial: true, content: { role: 'model', parts: [{ text }] } };
  }
  yield { content: { role: 'model', parts: [{ text: said }] } };
}

const app = await NestFactory.create(root, { logger: ['error'], forceCloseConnections: true });
app.get(AgentRegistry).register({ app: 'bench' }, speak);
// Otherwise it may end a connection just when the benchmark uses it again.
app.getHttpServer().keepAliveTimeout = 0;
await app.listen(0, '127.0.0.1');
process.send({ port: Number(new URL(await app.getUrl()).port) });
process.on('disconnect', () => void app.close());
