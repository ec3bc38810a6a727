// An agent behind AG-UI: a client runs it, and a page that is loaded in mid-answer sees each character once.
import 'reflect-metadata';
import { HttpAgent, runHttpRequest, transformHttpEventStream } from '@ag-ui/client';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionsModule } from 'nestjs-agent-sessions';
import { AgUiModule } from 'nestjs-agent-sessions/ag-ui';
import {
  type Agent,
  type AgentContext,
  AgentHandler,
  AgentsModule,
  type RunHandler,
} from 'nestjs-agent-sessions/agents';
import { OpenAccess } from 'nestjs-agent-sessions/rest';

let goOn = (): void => undefined;
const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));

/** Answers in pieces, and waits in the middle. */
@Injectable()
@AgentHandler({ app: 'shop', name: 'support' })
class Support implements Agent {
  async *run(context: AgentContext): ReturnType<RunHandler> {
    yield { content: { role: 'model', parts: [{ text: 'It is on ' }] }, partial: true };
    await mayGoOn;
    context.state.answered = true;
    yield { content: { role: 'model', parts: [{ text: 'It is on its way.' }] } };
  }
}

@Module({
  imports: [
    SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
    AgentsModule.forRoot({ isGlobal: true }),
    AgentsModule.forFeature([Support]),
    AgUiModule.forRoot({ access: OpenAccess }),
  ],
})
class AppModule {}

/** The client of AG-UI, which can also look at a thread that somebody else runs. */
class ThreadAgent extends HttpAgent {
  protected override connect(input: Parameters<HttpAgent['run']>[0]) {
    const request = () => fetch(this.url.replace(/run$/, 'connect?live=false'), this.requestInit(input));
    return transformHttpEventStream(runHttpRequest(request));
  }
}

const app = await NestFactory.create(AppModule, { logger: false, forceCloseConnections: true });
await app.listen(0, '127.0.0.1');
const url = `${await app.getUrl()}/apps/shop/users/ann/ag-ui/run`;

const page = new ThreadAgent({ url, threadId: 'chat-1' });
page.addMessage({ id: 'u1', role: 'user', content: 'Where is my order?' });
let begin = (): void => undefined;
const begun = new Promise<void>((resolve) => (begin = resolve));
const run = page.runAgent({}, { onTextMessageContentEvent: () => begin() });
await begun;

const refreshed = new ThreadAgent({ url, threadId: 'chat-1' });
const pieces: string[] = [];
const read = refreshed.connectAgent(
  {},
  {
    onTextMessageContentEvent: ({ event }) => {
      pieces.push(event.delta);
      goOn();
    },
  },
);
await Promise.all([run, read]);
console.log(pieces);
for (const { role, content } of refreshed.messages) console.log(role, content);
console.log('state', refreshed.state);
await app.close();
