import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { InvalidEndpointError } from './errors.ts'
import { loadTls, type TlsFiles } from './tls.ts'

/** Where a server listens, as in `--remote` and `--db` of the OVS commands. */
export type Endpoint =
  | { readonly protocol: 'tcp' | 'ssl'; readonly host: string; readonly port: number; readonly text: string }
  | { readonly protocol: 'unix'; readonly path: string; readonly text: string }

/** The port that IANA gave to OVSDB. */
const defaultPort = 6640

const hostAndPort =
  /^(?<protocol>tcp|ssl):(?:\[(?<v6>[0-9A-Fa-f:.]+(?:%[^\]]+)?)\]|(?<host>[^:[\]]+))(?::(?<port>\d{1,5}))?$/

/** Throws {@link InvalidEndpointError}. */
export function parseEndpoint(text: string): Endpoint {
  if (text.startsWith('unix:') && text.length > 'unix:'.length) {
    return { protocol: 'unix', path: text.slice('unix:'.length), text }
  }
  const { protocol, v6, host = v6, port } = hostAndPort.exec(text)?.groups ?? {}
  const number = port === undefined ? defaultPort : Number(port)
  if (host === undefined || number < 1 || number > 65_535) throw new InvalidEndpointError(text)
  return { protocol: protocol === 'ssl' ? 'ssl' : 'tcp', host, port: number, text }
}

/** Says that an `ssl:` endpoint needs files. */
export function missingTls(endpoint: Endpoint): InvalidEndpointError {
  return new InvalidEndpointError(endpoint.text, 'the option tls with the files for ssl:, or tcp:')
}

/** Opens a connection. Rejects with the reason of `signal` when that is aborted first. */
export async function openSocket(
  endpoint: Endpoint,
  tls: TlsFiles | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  switch (endpoint.protocol) {
    case 'unix':
      return established(connectTcp({ path: endpoint.path }), 'connect', signal)
    case 'tcp':
      return established(
        connectTcp({ host: endpoint.host, port: endpoint.port, noDelay: true }),
        'connect',
        signal,
      )
    case 'ssl': {
      if (tls === undefined) throw missingTls(endpoint)
      const socket = connectTls({
        host: endpoint.host,
        port: endpoint.port,
        secureContext: await loadTls(tls),
        // As in OVS, whoever has a certificate of this CA is trusted: OVSDB certificates name no hosts.
        checkServerIdentity: () => undefined,
      })
      return established(socket.setNoDelay(), 'secureConnect', signal)
    }
  }
}

function established(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    function onAbort(): void {
      socket.destroy()
      reject(signal.reason)
    }
    function onError(error: Error): void {
      signal.removeEventListener('abort', onAbort)
      reject(error)
    }
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    socket.once('error', onError)
    socket.once(event, () => {
      signal.removeEventListener('abort', onAbort)
      socket.off('error', onError)
      resolve(socket)
    })
  })
}
