// A Nest app whose agent gets its sessions injected; kept in memory.
import 'reflect-metadata';
import { Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SESSION_STORAGE, SessionService, SessionsModule } from 'nestjs-agent-sessions';

class SupportAgent {
  constructor(sessions) {
    this.sessions = sessions;
  }

  async answer(key, question) {
    const session = await this.sessions.getOrCreateSession(key);
    const say = (author, text) =>
      this.sessions.appendEvent({ session, event: { author, content: { parts: [{ text }] } } });
    await say('user', question);
    await say('support-agent', `You asked ${session.events.length} time(s).`);
    return session;
  }
}
// What TypeScript writes as @Injectable() and constructor(private readonly sessions: SessionService).
Injectable()(SupportAgent);
Inject(SessionService)(SupportAgent, undefined, 0);

class AppModule {}
Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })], providers: [SupportAgent] })(AppModule);

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const session = await app.get(SupportAgent).answer({ appName: 'shop', userId: 'ann', sessionId: 'order-7' }, 'Hello?');
for (const { seq, author, content } of session.events) console.log(`${seq}  ${author}: ${content.parts[0].text}`);

console.log('in the store', app.get(SESSION_STORAGE).snapshot().sessions, 'session');
await app.close();
