import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

/** Takes connections and questions at a socket of this path and never answers, as a daemon that hangs. */
export async function startSilentServer(path: string): Promise<AsyncDisposable> {
  const held = new Set<Socket>()
  const server = createServer((socket) => {
    held.add(socket)
    socket.resume().on('error', () => undefined)
    socket.on('close', () => held.delete(socket))
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of held) socket.destroy()
      await closed
    },
  }
}
