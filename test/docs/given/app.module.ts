import { Module } from '@nestjs/common';

/** The app that a reader starts. */
@Module({})
export class AppModule {}
