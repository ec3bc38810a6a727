import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { toMessages, withOutput } from 'nestjs-agent-sessions/agents';
import type { SessionStorage } from 'nestjs-agent-sessions/storage';
import { describeSessionService, describeSessionStorage } from 'nestjs-agent-sessions/testing';

@Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })] })
export class AppModule {
  constructor(readonly sessions: SessionService) {}
}

export type Store = SessionStorage;
export const suites = [describeSessionService, describeSessionStorage];
export const output = withOutput({ author: 'writer' }, { author: 'writer', outputKey: 'draft' });
export const messages = toMessages([], { format: 'openai' });
