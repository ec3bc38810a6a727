// A store of your own: Nest creates the class and injects its dependencies, and the module closes it.
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InMemorySessionStorage, SessionService, SessionsModule } from 'nestjs-agent-sessions';
import type { AppendOutcome, Commit } from 'nestjs-agent-sessions/storage';

@Injectable()
class AuditLog {
  readonly entries: string[] = [];
}

@Module({ providers: [AuditLog], exports: [AuditLog] })
class AuditModule {}

// A real one implements SessionStorage, and the contract suite of nestjs-agent-sessions/testing proves it.
@Injectable()
class AuditedStorage extends InMemorySessionStorage {
  constructor(private readonly log: AuditLog) {
    super();
  }

  override async append(commit: Commit): Promise<AppendOutcome> {
    const outcome = await super.append(commit);
    this.log.entries.push(`append: ${outcome.kind}`);
    return outcome;
  }

  override async close() {
    this.log.entries.push('close');
    await super.close();
  }
}

@Module({
  imports: [
    AuditModule,
    SessionsModule.forRootAsync({ imports: [AuditModule], useFactory: () => ({ storage: AuditedStorage }) }),
  ],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const sessions = app.get(SessionService);
const session = await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 'order-7' });
const event = { id: 'e-1', author: 'agent', actions: { stateDelta: { total: 42 } } };
await sessions.appendEvent({ session, event });
await sessions.appendEvent({ session, event });
console.log('state  ', session.state, 'version', session.version);
const { entries } = app.get(AuditLog);
await app.close();
console.log('entries', entries);
