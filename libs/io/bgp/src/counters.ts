import type { Message } from './message.ts'

/** Messages of one direction, as they are counted by upstream. */
export interface MessageCounters {
  open: number
  update: number
  keepalive: number
  notification: number
  refresh: number
  /** UPDATEs that withdraw something, and prefixes in them. */
  withdrawUpdate: number
  withdrawPrefix: number
  /** Routes of messages that counted as withdrawn for what was wrong with them. */
  discarded: number
  total: number
}

export function messageCounters(): MessageCounters {
  return {
    ...{ open: 0, update: 0, keepalive: 0, notification: 0, refresh: 0 },
    ...{ withdrawUpdate: 0, withdrawPrefix: 0, discarded: 0, total: 0 },
  }
}

export function countMessage(counters: MessageCounters, message: Message): void {
  counters.total++
  if (message.type === 'route-refresh') counters.refresh++
  else counters[message.type]++
  if (message.type !== 'update') return
  const withdrawn = message.withdrawn.length + (message.unreachable?.prefixes.length ?? 0)
  if (withdrawn > 0) counters.withdrawUpdate++
  counters.withdrawPrefix += withdrawn
  if (message.malformed.length > 0) counters.discarded++
}
