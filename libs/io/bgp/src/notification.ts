/** Codes of a NOTIFICATION (RFC 4271, section 4.5; RFC 6608; RFC 7313). */
export const errorCode = {
  header: 1,
  open: 2,
  update: 3,
  holdTimer: 4,
  finiteStateMachine: 5,
  cease: 6,
} as const

export const headerError = { notSynchronized: 1, badLength: 2, badType: 3 } as const

export const openError = {
  unsupportedVersion: 1,
  badPeerAs: 2,
  badIdentifier: 3,
  unsupportedParameter: 4,
  badHoldTime: 6,
  unsupportedCapability: 7,
} as const

export const updateError = {
  malformedAttributes: 1,
  unrecognizedWellKnown: 2,
  badAttributeFlags: 4,
  badAttributeLength: 5,
  badNetwork: 10,
} as const

/** Of RFC 4486 and 9384. */
export const ceaseReason = {
  prefixLimit: 1,
  shutdown: 2,
  deconfigured: 3,
  reset: 4,
  rejected: 5,
  otherConfiguration: 6,
  collision: 7,
  bfdDown: 10,
} as const

const names: Readonly<Record<number, { readonly name: string; readonly subcodes: readonly string[] }>> = {
  [errorCode.header]: {
    name: 'message header error',
    subcodes: ['', 'connection not synchronized', 'bad message length', 'bad message type'],
  },
  [errorCode.open]: {
    name: 'OPEN message error',
    subcodes: [
      '',
      'unsupported version number',
      'bad peer AS',
      'bad BGP identifier',
      'unsupported optional parameter',
      'authentication failure',
      'unacceptable hold time',
      'unsupported capability',
    ],
  },
  [errorCode.update]: {
    name: 'UPDATE message error',
    subcodes: [
      '',
      'malformed attribute list',
      'unrecognized well-known attribute',
      'missing well-known attribute',
      'attribute flags error',
      'attribute length error',
      'invalid ORIGIN attribute',
      '',
      'invalid NEXT_HOP attribute',
      'optional attribute error',
      'invalid network field',
      'malformed AS_PATH',
    ],
  },
  [errorCode.holdTimer]: { name: 'hold timer expired', subcodes: [] },
  [errorCode.finiteStateMachine]: {
    name: 'finite state machine error',
    subcodes: [
      '',
      'unexpected message in OpenSent',
      'unexpected message in OpenConfirm',
      'unexpected message in Established',
    ],
  },
  [errorCode.cease]: {
    name: 'cease',
    subcodes: [
      '',
      'maximum number of prefixes reached',
      'administrative shutdown',
      'peer de-configured',
      'administrative reset',
      'connection rejected',
      'other configuration change',
      'connection collision resolution',
      'out of resources',
      'hard reset',
      'BFD down',
    ],
  },
}

/** Words for a code and a subcode; numbers for those that nobody has named. */
export function describeNotification(code: number, subcode: number): string {
  const known = names[code]
  if (known === undefined) return `error ${code}/${subcode}`
  const detail = known.subcodes[subcode]
  if (detail !== undefined && detail !== '') return `${known.name}: ${detail}`
  return subcode === 0 ? known.name : `${known.name} ${subcode}`
}
