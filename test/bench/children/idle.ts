// An application that does nothing: what it cost to get here.
import 'node:http';
import { getActiveResourcesInfo } from 'node:process';

const { userCPUTime, systemCPUTime } = process.resourceUsage();
const told = {
  cpu: (userCPUTime + systemCPUTime) / 1000,
  rss: process.memoryUsage.rss() / 2 ** 20,
  workers: getActiveResourcesInfo().filter((resource) => resource === 'Worker').length,
};
process.send?.(told, () => process.exit());
