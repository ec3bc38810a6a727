// A store of your own: a class that Nest makes, with what it injects, and that the module closes. This one counts.
import 'reflect-metadata';
import { Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InMemorySessionStorage, SessionService, SessionsModule } from 'nestjs-agent-sessions';

class Ledger {
  entries = [];
}
class LedgerModule {}
Module({ providers: [Ledger], exports: [Ledger] })(LedgerModule);

// A real one implements SessionStorage; the contract suite of nestjs-agent-sessions/testing proves it.
class LedgerStorage extends InMemorySessionStorage {
  constructor(ledger) {
    super();
    this.ledger = ledger;
  }

  async append(commit) {
    const outcome = await super.append(commit);
    this.ledger.entries.push(`append: ${outcome.kind}`);
    return outcome;
  }

  async close() {
    this.ledger.entries.push('close');
    await super.close();
  }
}
Injectable()(LedgerStorage);
Inject(Ledger)(LedgerStorage, undefined, 0);

class AppModule {}
Module({
  imports: [
    LedgerModule,
    SessionsModule.forRootAsync({ imports: [LedgerModule], useFactory: () => ({ storage: LedgerStorage }) }),
  ],
})(AppModule);

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const sessions = app.get(SessionService);
const session = await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 'order-7' });
const event = { id: 'e-1', author: 'agent', actions: { stateDelta: { total: 42 } } };
await sessions.appendEvent({ session, event });
await sessions.appendEvent({ session, event });
console.log('state ', session.state, 'version', session.version);
const { entries } = app.get(Ledger);
await app.close();
console.log('ledger', entries);
