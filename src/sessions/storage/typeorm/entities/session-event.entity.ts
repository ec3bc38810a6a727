import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { SessionRow } from './session.entity.js';

/** One event of a log. The primary key is its order. */
@Entity('agent_session_events')
@Index('agent_session_events_by_id', ['sessionPk', 'eventId'], { unique: true })
@Index('agent_session_events_by_time', ['sessionPk', 'highWater', 'seq'])
@Index('agent_session_events_anchors', ['sessionPk', 'seq'], { where: '"anchor" = 1' })
export class SessionEventRow {
  @PrimaryColumn('integer', { name: 'session_pk' })
  sessionPk!: number;

  @PrimaryColumn('integer')
  seq!: number;

  @Column('text', { name: 'event_id' })
  eventId!: string;

  @Column('text')
  digest!: string;

  @Column('integer', { name: 'appended_at' })
  appendedAt!: number;

  @Column('integer', { name: 'high_water' })
  highWater!: number;

  @Column('integer')
  anchor!: number;

  /** The event as JSON text; gone once history was trimmed. */
  @Column('text', { nullable: true })
  payload!: string | null;

  @ManyToOne(() => SessionRow, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'session_pk', foreignKeyConstraintName: 'agent_session_events_session' })
  session!: Relation<SessionRow>;
}
