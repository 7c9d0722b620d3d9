import { libcFunction } from '@kube-ovn/netlink'

/** Numbers of Linux. Times are two numbers of 64 bits: seconds and nanoseconds. */
const getStamp = 0x8010_8907
const realTime = 0
const time = Buffer.alloc(16)

const ioctl = libcFunction<[fd: number, request: number, argument: Buffer]>(
  'int ioctl(int fd, ulong request, void *argument)',
)
const clockGetTime = libcFunction<[clock: number, time: Buffer]>('int clock_gettime(int clock, void *time)')

/**
 * Has the kernel date what comes from now on: a process that gets no processor for a while, or has much else to do, reads packets late, which
 * neither came late nor took that long.
 */
export function dateArrivals(descriptor: number): void {
  // There is no packet yet, which is what it answers.
  ioctl(descriptor, getStamp, time)
}

/**
 * When the packet came that was read last, in ms of the kernel's clock; `undefined` when that is not known.
 *
 * @see SIOCGSTAMPNS in socket(7)
 */
export function arrivalMs(descriptor: number): number | undefined {
  return ioctl(descriptor, getStamp, time) < 0 ? undefined : timeMs()
}

/** The clock by which the kernel dates. Somebody may set it. */
export function kernelClockMs(): number {
  clockGetTime(realTime, time)
  return timeMs()
}

function timeMs(): number {
  return Number(time.readBigInt64LE(0)) * 1e3 + Number(time.readBigInt64LE(8)) / 1e6
}
