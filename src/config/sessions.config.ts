import { registerAs } from '@nestjs/config';
import { sessionsFromEnvironment } from './sessions-environment.js';

/**
 * The configuration of sessions under the name `sessions` of ConfigModule, from environment variables.
 *
 * @example
 * imports: [
 *   ConfigModule.forRoot({ load: [sessionsConfig] }),
 *   SessionsModule.forRootAsync(sessionsConfig.asProvider()),
 * ];
 */
export const sessionsConfig = registerAs('sessions', () => sessionsFromEnvironment(process.env));
