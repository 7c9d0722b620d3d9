import { replaceFile } from './replace-file.ts'

/** Only root may read it: kubelet and the runtime are root. */
const mode = 0o600

/**
 * The CNI configuration as upstream has it.
 *
 * The version is the one that every runtime in use knows; a runtime that knows STATUS and GC uses them when an
 * operator raises it.
 */
function renderConfiguration(serverSocket: string): string {
  const configuration = {
    name: 'kube-ovn',
    cniVersion: '0.3.1',
    plugins: [
      { type: 'kube-ovn', server_socket: serverSocket },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  }
  return `${JSON.stringify(configuration, undefined, 2)}\n`
}

/** Writes the configuration unless it is there, byte for byte; answers whether anything was written. */
export function installConfiguration(path: string, serverSocket: string): boolean {
  const wanted = renderConfiguration(serverSocket)
  return replaceFile(path, wanted, mode)
}
