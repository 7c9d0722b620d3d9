import type { Provider } from './pod.ts'

/** The key by which something is asked for a NIC in the provider's network, or for an object, which has the primary one's. */
export function nicKey(provider: Provider, name: string): string {
  return `${provider}.kubernetes.io/${name}`
}

/** Whether a NIC is asked to be mirrored, or not to be, by this key, whichever NIC it is. */
export function isMirrorKey(key: string): boolean {
  return key.endsWith('.kubernetes.io/mirror')
}
