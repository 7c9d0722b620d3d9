export { desiredPrefixes, desiredRoutes, prefixesOf, prefixesOfNobody } from './routes/desired.ts'
export { gatewayPrefixes } from './routes/gateway.ts'
export type {
  Announced,
  AnnouncedRoute,
  AnnouncementProblem,
  NeighborView,
  RouteAttributes,
  SpeakerSnapshot,
} from './routes/snapshot.ts'
