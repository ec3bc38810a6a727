import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { describeSessionService, describeSessionStorage } from 'nestjs-agent-sessions/testing';

@Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })] })
export class AppModule {
  constructor(readonly sessions: SessionService) {}
}

export const suites = [describeSessionService, describeSessionStorage];
