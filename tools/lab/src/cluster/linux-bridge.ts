import { runAt } from '../namespaces.ts'
import { switchName } from './names.ts'
import { ownMac, type PhysicalSwitch } from './switch.ts'

/** As bridge(8) numbers them. */
const states = { disabled: '0', forwarding: '3' } as const

/** A switch without VLANs. */
export const linuxBridge: PhysicalSwitch = {
  async create(outside) {
    await runAt(outside, ['ip', 'link', 'add', switchName, 'address', ownMac(), 'type', 'bridge'])
  },
  async plugIn(outside, port) {
    await runAt(outside, ['ip', 'link', 'set', port, 'master', switchName, 'up'])
  },
  async setForwarding(outside, port, isForwarding) {
    const state = isForwarding ? states.forwarding : states.disabled
    await runAt(outside, ['bridge', 'link', 'set', 'dev', port, 'state', state])
  },
}
