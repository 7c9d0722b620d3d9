import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Says why a test that needs network namespaces cannot run here, or `undefined` if it can.
 *
 * @example describe.skipIf(missingForNamespaces('nft'))('masquerade', …)
 */
export function missingForNamespaces(...commands: string[]): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces need Linux'
  if (process.geteuid?.() !== 0) return 'network namespaces need root'
  const missing = ['ip', ...commands].filter((command) => !isInstalled(command))
  return missing.length === 0 ? undefined : `not installed: ${missing.join(', ')}`
}

function isInstalled(command: string): boolean {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .concat('/usr/sbin', '/sbin')
    .some((folder) => isExecutable(join(folder, command)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
