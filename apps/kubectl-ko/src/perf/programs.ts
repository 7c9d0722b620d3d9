import type * as dgramModule from 'node:dgram'
import type * as netModule from 'node:net'

/** What a measurement found, in the units of the SI. */
export interface Measured {
  /** Half of a round trip. */
  readonly tcpLatencySeconds: number
  readonly tcpBitsPerSecond: number
  /** Half of a round trip; none when nothing came back. */
  readonly udpLatencySeconds?: number
  /** 0 to 1, of as many packets as the sender could send. */
  readonly udpLostRatio: number
  /** That arrived. */
  readonly udpBitsPerSecond: number
}

export interface Measurement {
  readonly host: string
  readonly port: number
  /** Bytes of a message, from 16. */
  readonly size: number
  /** Of each of the four parts. */
  readonly seconds: number
}

/** TCP and UDP port of the server: that of iperf3. */
export const perfPort = 5201

/**
 * A program for `node -e`: the other end of measurements.
 *
 * Both are functions whose text is sent to a pod, so that any image with Node will do: they may use nothing but their arguments.
 */
export function serverProgram(port: number): string {
  return `(${String(serve)})(require('node:net'), require('node:dgram'), ${port})`
}

/** A program for `node -e`: measures, and prints {@link Measured} as JSON. */
export function clientProgram(measurement: Measurement): string {
  return `(${String(measure)})(require('node:net'), require('node:dgram'), ${JSON.stringify(measurement)}).then((found) => console.log(JSON.stringify(found)), (error) => { console.error(String(error)); process.exit(1) })`
}

type Net = typeof netModule
type Dgram = typeof dgramModule

/** The first byte of what comes says what to do: e sends it back, s counts it, q asks for the count. */
function serve(net: Net, dgram: Dgram, port: number): void {
  const echo = 101
  const ask = 113
  const tcp = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    let kind: number | undefined
    let bytes = 0
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      kind ??= chunk[0]
      bytes += chunk.length
      if (kind === echo) socket.write(chunk)
    })
    socket.on('end', () => socket.end(kind === echo ? '' : String(bytes)))
  })
  // The one before may still be about to end.
  const retryMs = 200
  const isTaken = (error: Error): boolean => 'code' in error && error.code === 'EADDRINUSE'
  tcp.on('error', (error) => {
    if (!isTaken(error)) throw error
    setTimeout(() => tcp.listen(port), retryMs)
  })
  tcp.listen(port)
  const counts = new Map<string, number>()
  const listen = (type: 'udp6' | 'udp4'): void => {
    const udp = dgram.createSocket({ type, recvBufferSize: 4 << 20 })
    udp.on('error', (error) => {
      if (isTaken(error)) setTimeout(() => listen(type), retryMs)
      // A machine without IPv6.
      else if (type === 'udp6') listen('udp4')
      else throw error
    })
    udp.on('message', (message, { port: from, address }) => {
      const key = message.toString('latin1', 1, 13)
      if (message[0] === echo) udp.send(message, from, address)
      else if (message[0] === ask) udp.send(`q${key}${counts.get(key) ?? 0}`, from, address)
      else counts.set(key, (counts.get(key) ?? 0) + 1)
    })
    udp.bind(port)
  }
  listen('udp6')
}

async function measure(
  net: Net,
  dgram: Dgram,
  { host, port, size, seconds }: Measurement,
): Promise<Measured> {
  const atOnce = 10
  const inFlight = 64
  const ms = seconds * 1000
  const family = host.includes(':') ? 'udp6' : 'udp4'
  const limit = setTimeout(
    () => {
      process.stderr.write(`${host}:${port} did not answer in time\n`)
      process.exit(1)
    },
    8 * ms + 20_000,
  )
  const pause = (forMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, forMs))

  const tcpLatency = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const message = Buffer.alloc(size, 'e')
      const socket = net.connect({ host, port, noDelay: true })
      let [startedMs, missing, count] = [0, size, 0]
      socket.on('error', reject)
      socket.on('connect', () => {
        startedMs = performance.now()
        socket.write(message)
      })
      socket.on('data', (chunk) => {
        missing -= chunk.length
        if (missing > 0) return
        missing = size
        count++
        const tookMs = performance.now() - startedMs
        if (tookMs < ms) socket.write(message)
        else {
          socket.destroy()
          resolve(tookMs / 1000 / count / 2)
        }
      })
    })

  const tcpStream = (untilMs: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const message = Buffer.alloc(size, 's')
      const socket = net.connect({ host, port })
      let said = ''
      const more = (): void => {
        let hasRoom = true
        while (hasRoom && performance.now() < untilMs) hasRoom = socket.write(message)
        if (performance.now() >= untilMs) socket.end()
      }
      socket.on('error', reject)
      socket.on('connect', more)
      socket.on('drain', more)
      socket.on('data', (chunk) => (said += String(chunk)))
      socket.on('end', () => resolve(Number(said)))
    })

  const udpLatency = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const socket = dgram.createSocket(family)
      const startedMs = performance.now()
      let [sentMs, waited, count, sequence] = [0, 0, 0, 0]
      let lost: NodeJS.Timeout | undefined
      const next = (): void => {
        clearTimeout(lost)
        if (performance.now() - startedMs >= ms) {
          socket.close()
          resolve(count === 0 ? undefined : waited / 1000 / count / 2)
          return
        }
        const message = Buffer.alloc(size, 'e')
        message.write(String(++sequence).padStart(12), 1, 'latin1')
        sentMs = performance.now()
        socket.send(message, port, host)
        lost = setTimeout(next, 500)
      }
      socket.on('error', reject)
      socket.on('message', (message) => {
        // One that was given up may still come.
        if (Number(message.toString('latin1', 1, 13)) !== sequence) return
        waited += performance.now() - sentMs
        count++
        next()
      })
      next()
    })

  const udpStream = async (): Promise<{ sent: number; received: number; tookMs: number }> => {
    const socket = dgram.createSocket({ type: family, sendBufferSize: 1 << 20 })
    const key = Math.random().toString(36).slice(2).padEnd(12, '0').slice(0, 12)
    const message = Buffer.alloc(size, 's')
    message.write(key, 1, 'latin1')
    const startedMs = performance.now()
    let sent = 0
    const sendAll = async (): Promise<void> => {
      while (performance.now() - startedMs < ms) {
        const failed = await new Promise<unknown>((resolve) => socket.send(message, port, host, resolve))
        // The queue of the NIC is full.
        if (failed) await pause(1)
        else sent++
      }
    }
    await Promise.all(Array.from({ length: inFlight }, sendAll))
    const tookMs = performance.now() - startedMs
    const received = await new Promise<number>((resolve, reject) => {
      let asked = 0
      const asking = setInterval(() => {
        socket.send(`q${key}`, port, host)
        if (++asked < 20) return
        clearInterval(asking)
        reject(new Error(`${host}:${port} does not tell what it received by UDP`))
      }, 250)
      socket.on('message', (answer) => {
        clearInterval(asking)
        resolve(Number(answer.toString('latin1', 13)))
      })
    })
    socket.close()
    return { sent, received, tookMs }
  }

  const tcpLatencySeconds = await tcpLatency()
  const startedMs = performance.now()
  const streams = await Promise.all(Array.from({ length: atOnce }, () => tcpStream(startedMs + ms)))
  const tcpBytes = streams.reduce((sum, bytes) => sum + bytes, 0)
  const tcpBitsPerSecond = (tcpBytes * 8 * 1000) / (performance.now() - startedMs)
  const udpLatencySeconds = await udpLatency()
  const { sent, received, tookMs } = await udpStream()
  clearTimeout(limit)
  return {
    tcpLatencySeconds,
    tcpBitsPerSecond,
    ...(udpLatencySeconds !== undefined && { udpLatencySeconds }),
    udpLostRatio: sent === 0 ? 1 : Math.max(0, 1 - received / sent),
    udpBitsPerSecond: (received * size * 8 * 1000) / tookMs,
  }
}
