import { Module } from '@nestjs/common';
import { SessionsModule } from 'nestjs-agent-sessions';
import { AgentsModule } from 'nestjs-agent-sessions/agents';
import { AgentsRestModule, OpenAccess, SessionAccessModule, SessionsRestModule } from 'nestjs-agent-sessions/rest';
import { PageController } from './page.controller.js';
import { SupportAgent } from './support-agent.js';

/** Any number of instances may share the database. `OpenAccess` lets everybody do everything; an app has a rule of its own. */
@Module({
  imports: [
    SessionsModule.forRoot({
      provider: 'typeorm',
      database: { database: process.env['CHAT_DATABASE'] ?? './data/chat.db' },
      watchPollMs: 100,
      isGlobal: true,
    }),
    AgentsModule.forRoot({ isGlobal: true }),
    AgentsModule.forFeature([SupportAgent]),
    SessionAccessModule.forRoot({ access: OpenAccess }),
    SessionsRestModule.forRoot(),
    AgentsRestModule.forRoot(),
  ],
  controllers: [PageController],
})
export class AppModule {}
