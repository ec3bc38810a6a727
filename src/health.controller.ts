import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { SessionService } from './sessions/session.service.js';

/** No app is called this, so looking it up finds nothing and costs nothing. */
const PROBE = { appName: 'health-probe' };

/** Says whether the app can serve: it can if its store answers. */
@Controller('health')
export class HealthController {
  constructor(private readonly sessions: SessionService) {}

  @Get()
  async check(): Promise<{ status: 'ok' }> {
    try {
      await this.sessions.getAppState(PROBE);
    } catch (error) {
      throw new ServiceUnavailableException({
        status: 'error',
        store: error instanceof Error ? error.message : 'failed',
      });
    }
    return { status: 'ok' };
  }
}
