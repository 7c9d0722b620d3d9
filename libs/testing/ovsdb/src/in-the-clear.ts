import { connect } from 'node:net'

/** How long a server may take to hang up on somebody whom it does not understand. */
const limitMs = 30_000

/**
 * Asks a port for its databases as if it spoke OVSDB in the clear, and yields what it answers until it hangs up: nothing that can be read,
 * if it speaks TLS.
 *
 * @param id of the question, by which it is known to whoever listens to the network
 * @throws Error when the port is closed, or it does not hang up
 */
export function askInTheClear(host: string, port: number, id: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    let answer = ''
    let isConnected = false
    const timer = setTimeout(
      () => socket.destroy(new Error(`${host} port ${port} does not hang up`)),
      limitMs,
    )
    socket.once('connect', () => {
      isConnected = true
      socket.write(JSON.stringify({ id, method: 'list_dbs', params: [] }))
    })
    socket.on('data', (bytes: Buffer) => {
      answer += bytes.toString('latin1')
    })
    // To be reset is to be refused, too.
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (!isConnected || error.code !== 'ECONNRESET') reject(error)
    })
    socket.once('close', () => {
      clearTimeout(timer)
      resolve(answer)
    })
  })
}
