import { randomUUID } from 'node:crypto';
import { type App, startApp } from '@plangate/devstack';
import { apiKeyStore } from '@plangate/http';
import { connectRedis } from '@plangate/redis';
import type { Browser } from 'playwright-core';
import { type Pages, servePages, startBrowser } from './browser.ts';
import { DESKTOP_PAGE, type Desktop, type DesktopOptions, openDesktop } from './desktop.ts';
import { type Product, startProduct } from './product.ts';
import { until } from './until.ts';

/** The product behind two gateways, a browser, and a web server whose pages are of another origin. */
export interface DesktopRig {
  product: Product;
  /** Wants credentials. */
  guarded: App;
  /** Wants none. */
  open: App;
  /** A key of a new user, whose requests are counted for themselves. */
  createKey(): Promise<string>;
  pages: Pages;
  browser: Browser;
  /** Opens the desktop client. */
  openPage(options: Omit<DesktopOptions, 'pageUrl'> & { host?: string }): Promise<Desktop>;
  /** Closes what was opened. */
  closePages(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param files further pages, by their paths
 * @param hosts names that the browser finds on loopback
 */
export async function startDesktopRig(
  files: Record<string, string> = {},
  hosts: string[] = [],
): Promise<DesktopRig> {
  const product = await startProduct({ stack: { skipAuth: false } });
  const { GATEWAY_PORT: _, ...env } = product.stack.env;
  const open = await startApp('gateway', { env: { ...env, GATEWAY_SKIP_AUTH: '1' } });
  const pages = await servePages({ ...DESKTOP_PAGE, ...files });
  const browser = await startBrowser(hosts);
  let opened: Desktop[] = [];
  return {
    product,
    guarded: product.stack.apps.gateway,
    open,
    createKey: () => createKey(product.stack.redis.url),
    pages,
    browser,
    async openPage({ host = 'localhost', ...options }) {
      const desktop = await openDesktop(browser, { ...options, pageUrl: `http://${host}:${pages.port}/` });
      opened.push(desktop);
      return desktop;
    },
    async closePages() {
      await Promise.all(opened.map((desktop) => desktop.close()));
      opened = [];
    },
    async stop() {
      await browser.close();
      await pages.stop();
      await open.stop();
      await product.stop();
    },
  };
}

async function createKey(redisUrl: string): Promise<string> {
  const redis = connectRedis(redisUrl);
  await until(() => redis.status === 'ready');
  const { key } = await apiKeyStore(redis).create({ owner: { user: randomUUID(), tenant: 'acme' } });
  redis.disconnect();
  return key;
}
