import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type Agent,
  type AgentContext,
  AgentHandler,
  AgentsModule,
  type RunHandler,
} from '../../../src/agents/index.js';
import { AgentsRestModule } from '../../../src/agents/rest/index.js';
import { SessionsModule } from '../../../src/index.js';
import { OpenAccess, SessionsRestModule } from '../../../src/sessions/rest/index.js';
import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';

/** How long an answer takes, in pieces. */
const PIECES = 12;
const PIECE_MS = 20;

/** What the agent answers. */
export function answerTo(words: string): string {
  return Array.from({ length: PIECES }, (_, index) => `${words}.${index} `).join('');
}

/** Says its answer in pieces. */
@Injectable()
@AgentHandler({ app: 'shop', name: 'support', policy: 'enqueue' })
class Support implements Agent {
  async *run({ message, signal }: AgentContext): ReturnType<RunHandler> {
    const words = message.parts?.[0]?.text ?? '';
    for (let index = 0; index < PIECES; index++) {
      await delay(PIECE_MS, undefined, { signal });
      yield { partial: true, content: { role: 'model', parts: [{ text: `${words}.${index} ` }] } };
    }
    yield { content: { role: 'model', parts: [{ text: answerTo(words) }] } };
  }
}

/** Serves agents until the process gets a SIGTERM, as an instance of an app does. Returns the port. */
export async function serveAgents(storage: SessionStorage, drainMs: number): Promise<number> {
  @Module({
    imports: [
      SessionsModule.forRoot({ storage, isGlobal: true, watchPollMs: 50 }),
      AgentsModule.forRoot({ isGlobal: true, pollMs: 50, graceMs: 300, drainMs, partials: { flushMs: 10 } }),
      AgentsModule.forFeature([Support]),
      SessionsRestModule.forRoot({ access: OpenAccess }),
      AgentsRestModule.forRoot({ access: OpenAccess }),
    ],
  })
  class ServerModule {}
  const app = await NestFactory.create(ServerModule, { logger: false });
  app.enableShutdownHooks(['SIGTERM']);
  await app.listen(0, '127.0.0.1');
  return Number(new URL(await app.getUrl()).port);
}
