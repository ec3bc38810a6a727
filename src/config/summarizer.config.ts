import { registerAs } from '@nestjs/config';
import { summarizerFromEnvironment } from './summarizer-from-environment.js';

/**
 * The configuration of summaries under the name `summarizer` of ConfigModule, from environment variables.
 *
 * @example
 * imports: [ConfigModule.forRoot({ load: [summarizerConfig] }), SummarizerModule.forRootAsync(summarizerConfig.asProvider())];
 */
export const summarizerConfig = registerAs('summarizer', () => summarizerFromEnvironment(process.env));
