import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { SessionsModuleOptions } from './sessions-module-options.js';

/** `forRoot` and `forRootAsync` as every Nest package has them. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<SessionsModuleOptions>({ moduleName: 'Sessions' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createSessionsOptions')
    .setExtras({ isGlobal: false }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
    .build();
