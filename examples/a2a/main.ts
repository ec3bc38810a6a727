// An agent of A2A whose tasks are sessions: one line in the request handler. Two instances work on the same tasks.
import 'reflect-metadata';
import { type Artifact, type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutor, ServerCallContext } from '@a2a-js/sdk/server';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { SessionRequestHandler, SessionTaskStore } from 'nestjs-agent-sessions/a2a';

function message(messageId: string, text: string): Message {
  const part = { content: { $case: 'text' as const, value: text }, metadata: undefined, filename: '', mediaType: '' };
  const empty = { contextId: '', taskId: '', metadata: undefined, extensions: [], referenceTaskIds: [] };
  return { ...empty, messageId, role: Role.ROLE_USER, parts: [part] };
}

/** Answers in chunks of an artifact. */
const execute: AgentExecutor['execute'] = async ({ taskId, contextId, userMessage }, bus) => {
  const status = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined };
  const task: Task = { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: {} };
  bus.publish(AgentEvent.task(task));
  for (const chunk of ['It is ', 'on its ', 'way.']) {
    const { parts, metadata } = message('', chunk);
    const artifact: Artifact = { artifactId: 'answer', name: '', description: '', parts, metadata, extensions: [] };
    const isLast = chunk === 'way.';
    bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: true, lastChunk: isLast, metadata }));
  }
  const done = { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: '2026-01-01T00:00:00.000Z' };
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: done, metadata: undefined }));
  bus.finished();
};

@Injectable()
class Support {
  readonly tasks: SessionTaskStore;
  readonly handler: SessionRequestHandler;

  constructor(sessions: SessionService) {
    this.tasks = new SessionTaskStore({ sessions, appName: 'shop' });
    const card = {
      name: 'Support',
      description: 'Knows where orders are.',
      version: '1',
      supportedInterfaces: [],
      provider: undefined,
      capabilities: { extensions: [] },
      securitySchemes: {},
      securityRequirements: [],
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [],
      signatures: [],
    };
    this.handler = new SessionRequestHandler(card, this.tasks, { execute, cancelTask: async () => undefined });
  }
}

@Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })], providers: [Support] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const support = app.get(Support);
const call = new ServerCallContext({ user: { isAuthenticated: true, userName: 'ann' } });
const asked = message('m1', 'Where is my order?');
const result = await support.handler.sendMessage(
  { tenant: '', message: asked, configuration: undefined, metadata: undefined },
  call,
);
if (!('artifacts' in result)) throw new Error('The agent answers with a task');
console.log(result.artifacts[0]?.parts.map(({ content }) => content?.value));

// Another instance added a note meanwhile; this one still has the old task, and saves it.
const other = new SessionTaskStore({ sessions: app.get(SessionService), appName: 'shop' });
const [theirs, ours] = [await other.load(result.id, call), await support.tasks.load(result.id, call)];
if (!theirs || !ours) throw new Error('The task is stored');
theirs.history.push(message('m2', 'Thanks!'));
ours.metadata = { rating: 5 };
await other.save(theirs, call);
await support.tasks.save(ours, call);
const merged = await other.load(result.id, call);
console.log(
  merged?.history.map(({ messageId }) => messageId),
  merged?.metadata,
);

// Everything else reads the task as a conversation.
const session = await app.get(SessionService).getSession({ appName: 'shop', userId: 'ann', sessionId: result.id });
for (const { author, content } of session?.events ?? []) if (content) console.log(author, content.parts?.[0]?.text);
await app.close();
