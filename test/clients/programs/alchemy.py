"""SQLAlchemy with psycopg: tables, queries, transactions and a pool that survives a restart of the compute."""
import json
import os
import urllib.request

from sqlalchemy import Column, Integer, MetaData, String, Table, create_engine, inspect, select, text

URL = os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+psycopg://")
engine = create_engine(URL, pool_pre_ping=True)
books = Table("shelf", MetaData(), Column("id", Integer, primary_key=True), Column("title", String))
count = 0


def ran(name, act):
    global count
    count += 1
    try:
        act()
        print(f"ok {count} - {name}")
    except Exception as error:
        print(f"not ok {count} - {name}: {str(error).splitlines()[0]}")


def insert():
    with engine.begin() as connection:
        connection.execute(books.insert().values(title="Emma"))
    with engine.connect() as connection:
        assert connection.execute(select(books.c.title)).all() == [("Emma",)]


def roll_back():
    with engine.connect() as connection:
        connection.execute(books.insert().values(title="lost"))
        connection.rollback()
        assert connection.execute(text("SELECT count(*) FROM shelf")).scalar() == 1


def restart():
    request = urllib.request.Request(
        os.environ["RESTART_URL"], method="POST", headers={"Authorization": f"Bearer {os.environ['API_KEY']}"}
    )
    assert json.load(urllib.request.urlopen(request))["operations"]
    with engine.connect() as connection:
        assert connection.execute(text("SELECT 1")).scalar() == 1


ran("create a table", lambda: books.create(engine))
ran("insert and select", insert)
ran("roll back", roll_back)
ran("inspect the schema", lambda: inspect(engine).get_columns("shelf")[1]["name"] == "title" or 1 / 0)
ran("the pool survives a restart", restart)
