import { Module } from '@nestjs/common';
import { SessionsModule } from 'nestjs-agent-sessions';
import { ChatModel } from './chat-model.js';
import { SupportAgent } from './support-agent.service.js';
import { SupportController } from './support.controller.js';

@Module({
  imports: [SessionsModule.forRoot({ provider: 'memory' })],
  controllers: [SupportController],
  providers: [SupportAgent, ChatModel],
})
export class AppModule {}
