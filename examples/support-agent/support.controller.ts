import { Body, Controller, Param, Post } from '@nestjs/common';
import { SupportAgent } from './support-agent.service.js';

@Controller('users/:userId/chats/:chatId')
export class SupportController {
  constructor(private readonly agent: SupportAgent) {}

  @Post()
  async ask(
    @Param('userId') userId: string,
    @Param('chatId') chatId: string,
    @Body('question') question: string,
  ): Promise<{ answer: string }> {
    return { answer: await this.agent.answer({ appName: 'shop', userId, sessionId: chatId }, question) };
  }
}
