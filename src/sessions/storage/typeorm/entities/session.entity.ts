import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** One incarnation of a session: a session that is created again under the same id gets another row. */
@Entity('agent_sessions')
@Index('agent_sessions_key', ['appName', 'userId', 'sessionId'], { unique: true })
@Index('agent_sessions_by_update', ['appName', 'userId', 'lastUpdateTime', 'sessionId'])
@Index('agent_sessions_by_creation', ['appName', 'userId', 'createTime', 'sessionId'])
@Index('agent_sessions_of_app_by_update', ['appName', 'lastUpdateTime', 'userId', 'sessionId'])
@Index('agent_sessions_of_app_by_creation', ['appName', 'createTime', 'userId', 'sessionId'])
@Index('agent_sessions_by_expiry', ['expiresAt'])
export class SessionRow {
  @PrimaryGeneratedColumn()
  pk!: number;

  @Column('text', { name: 'app_name' })
  appName!: string;

  @Column('text', { name: 'user_id' })
  userId!: string;

  @Column('text', { name: 'session_id' })
  sessionId!: string;

  @Column('integer', { name: 'create_time' })
  createTime!: number;

  @Column('integer', { name: 'last_update_time' })
  lastUpdateTime!: number;

  @Column('integer', { name: 'expires_at' })
  expiresAt!: number;

  @Column('integer', { name: 'first_seq' })
  firstSeq!: number;

  @Column('integer', { name: 'last_seq' })
  lastSeq!: number;

  @Column('integer', { name: 'tip_seq' })
  tipSeq!: number;

  @Column('integer', { name: 'high_water' })
  highWater!: number;

  @Column('integer')
  turns!: number;

  @Column('integer')
  events!: number;

  @Column('integer', { name: 'content_length' })
  contentLength!: number;

  @Column('integer')
  tokens!: number;

  /** Hidden stretches of the log, as JSON text. */
  @Column('text')
  hidden!: string;

  @Column('integer', { name: 'view_from_seq' })
  viewFromSeq!: number;

  @Column('integer', { name: 'summary_seq' })
  summarySeq!: number;

  @Column('integer', { name: 'marks_seq' })
  marksSeq!: number;

  /** The session's own state before its first event, as JSON text. */
  @Column('text', { name: 'base_state' })
  baseState!: string;
}
